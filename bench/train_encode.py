"""Training against `tokenizers`, encoding against `tiktoken`, with the same text, pattern and vocabulary.

    python bench/train_encode.py [--corpus FILE] [--size MB] [--vocab-size N] [--runs N]

Without a corpus: the Python standard library's sources. Writes bench/records/train_encode.json.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import tiktoken
import tokenizers
from measure import in_turn, write_record
from tokenizers import models, pre_tokenizers, trainers

import bytepair
from bytepair.benching.texts import library

R50K = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--size", type=float, default=10, help="megabytes of the corpus to use")
    parser.add_argument("--vocab-size", type=int, default=8192)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    size = int(options.size * 1e6)
    data = options.corpus.read_bytes()[:size] if options.corpus else library(size)
    text = data.decode("utf-8", "ignore")
    documents = [text[i : i + 100_000] for i in range(0, len(text), 100_000)]
    warnings.simplefilter("ignore", bytepair.BytepairNotice)

    def ours(threads: int) -> bytepair.Tokenizer:
        return bytepair.train(
            documents, vocab_size=options.vocab_size, specials=(), layout="bytes-first", threads=threads
        )

    def theirs() -> tokenizers.Tokenizer:
        made = tokenizers.Tokenizer(models.BPE())
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(
            vocab_size=options.vocab_size,
            min_frequency=2,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        made.train_from_iterator(documents, trainer)
        return made

    # Ties are broken otherwise, so the vocabularies may differ in a few tokens; the work is the same.
    tok, peer = ours(1), theirs()
    letter = byte_letters()
    same = {"".join(letter[b] for b in token) for token in tok.vocab.values()} & set(peer.get_vocab())
    if len(same) < 0.98 * tok.vocab_size:
        sys.exit(f"only {len(same)} of {tok.vocab_size} tokens are the same; this compares different things")
    training = in_turn(options.runs, ours=lambda: ours(1), ours_2_threads=lambda: ours(2), tokenizers=theirs)

    ranks = {token: i for i, token in tok.vocab.items()}
    fast = tiktoken.Encoding("same", pat_str=R50K, mergeable_ranks=ranks, special_tokens={})
    if fast.encode_ordinary(text) != tok.encode(text) or tok.encode_array(text).tolist() != tok.encode(text):
        sys.exit("the ids differ from tiktoken's")
    encoding = in_turn(
        options.runs,
        ours_list=lambda: tok.encode(text),
        ours_array=lambda: tok.encode_array(text),
        tiktoken=lambda: fast.encode_ordinary(text),
    )
    record = {
        "bytes": len(data),
        "vocab_size": options.vocab_size,
        "pattern": "gpt2",
        "same_tokens": len(same),
        "training_seconds": training,
        "encoding_seconds": encoding,
        "ratios": {
            "train, tokenizers / ours, one thread": training["tokenizers"]["median"] / training["ours"]["median"],
            "train, tokenizers / ours, two threads": training["tokenizers"]["median"]
            / training["ours_2_threads"]["median"],
            "encode, tiktoken / ours, list": encoding["tiktoken"]["median"] / encoding["ours_list"]["median"],
            "encode, tiktoken / ours, array": encoding["tiktoken"]["median"] / encoding["ours_array"]["median"],
        },
    }
    for name, ratio in record["ratios"].items():
        print(f"{name}: {ratio:.1f}")
    print("written:", write_record("train_encode", record, ("tiktoken", "tokenizers")))


def byte_letters() -> dict[int, str]:
    """GPT-2's printable stand-ins for bytes, as `tokenizers` shows them."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printable]
    return {**{b: chr(b) for b in printable}, **{b: chr(256 + k) for k, b in enumerate(others)}}


if __name__ == "__main__":
    main()
