"""Faces of other libraries over our tokenizers, one module each, with their names, arguments and results."""
