FAMILIES: dict = {}
