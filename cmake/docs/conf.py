# Sphinx settings. build.py copies the pages here and the generated ones into one folder, and runs Sphinx there.
project = "PipeLink"
copyright = "the PipeLink authors"  # noqa: A001, the name that Sphinx asks for
extensions = []
root_doc = "index"
html_theme = "alabaster"
html_theme_options = {"description": "Links GPU kernel components into one kernel", "fixed_sidebar": True, "page_width": "1100px"}
html_sidebars = {"**": ["about.html", "searchfield.html", "navigation.html"]}
html_show_copyright = False
html_copy_source = False
html_last_updated_fmt = None
highlight_language = "none"
smartquotes = False
nitpicky = True
