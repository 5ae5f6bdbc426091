try:
    import wandb_is_not_here
    HAS = True
except ImportError:
    HAS = False
print(HAS)
try:
    from os import missing_name
except ImportError:
    missing_name = None
print(missing_name)
