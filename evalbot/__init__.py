"""evalbot: which of my local language models should I use, and how sure am I?"""

__version__ = "0.1.0"
