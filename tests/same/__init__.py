"""The same results as before: hashes of what runs give, kept beside the code and compared with later runs."""
