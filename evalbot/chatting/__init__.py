"""Chats: asking several endpoints side by side, voting, and keeping what was said."""
