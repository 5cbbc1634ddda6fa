"""What is drawn. Text from outside comes here only as `Content`, or as Markdown by a parser that knows no HTML."""
