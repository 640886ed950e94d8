"""The version, for modules that the package's own names import."""

__version__ = "0.2.0"
