from .site import site

__all__ = ["site"]
