"""Fitted models for other places: text, Python, SQL, ONNX. They agree with the model row for row."""

from rulegrove.export.onnx import to_onnx
from rulegrove.export.python import to_python
from rulegrove.export.sql import to_sql
from rulegrove.export.text import to_markdown, to_text

__all__ = ["to_markdown", "to_onnx", "to_python", "to_sql", "to_text"]
