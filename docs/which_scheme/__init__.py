"""The page of winners: what to try first where flows starve, written from the results of `airfair suite`.

`columns` has the rows of the suite that are compared and the kinds of its scenes, `table` the stored results,
`sentences` and `page` the text, `picture` the picture, `files` all that is made. `make which-scheme` runs the
suite and writes results, page and picture; `docs/pages.py` makes page and picture from the stored results.
"""
