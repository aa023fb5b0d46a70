"""Other libraries' interfaces, one module each, so that code written for them runs on this package."""
