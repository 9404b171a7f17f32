def write_page(stored):
    return ""
