"""Faces of other libraries on this one's tokenizers, each a module that stands in for theirs.

``import bytepair.compat.tiktoken as tiktoken`` is all that a program which uses tiktoken needs to change.
"""
