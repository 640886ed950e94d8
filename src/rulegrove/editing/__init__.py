"""People and data make the list together: a session in which a fitted list is edited."""

from rulegrove.editing.session import EditSession as EditSession

__all__ = ["EditSession"]
