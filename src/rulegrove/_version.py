"""The version, for modules that the package's own names import."""

__version__ = "0.1.0"
