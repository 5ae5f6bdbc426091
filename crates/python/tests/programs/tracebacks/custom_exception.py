class ConfigError(Exception):
    pass
class MissingKey(ConfigError):
    def __init__(self, key):
        super().__init__(f'missing {key!r}')
        self.key = key
try:
    raise MissingKey('a')
except ConfigError as e:
    print(e.key, e)
raise MissingKey('lr')
