from collections import NoSuchThing
