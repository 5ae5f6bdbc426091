"""Features that are there already."""
annotations = division = print_function = absolute_import = generators = unicode_literals = with_statement = nested_scopes = generator_stop = True
