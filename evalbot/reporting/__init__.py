"""Tables, files and texts made from the record."""
