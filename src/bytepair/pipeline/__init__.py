"""What stands around the model in a Hugging Face ``tokenizer.json``: what happens to a text before, to tokens after."""
