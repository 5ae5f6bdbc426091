class Animal:
    def __init__(self, name):
        self.name = name
    def speak(self):
        return '...'
    def intro(self):
        return f'{self.name} says {self.speak()}'
class Dog(Animal):
    def speak(self):
        return 'Woof'
class Puppy(Dog):
    def __init__(self, name, age):
        super().__init__(name)
        self.age = age
    def speak(self):
        return super().speak() + '!' * self.age
for a in (Animal('x'), Dog('rex'), Puppy('bit', 2)):
    print(a.intro())
print(issubclass(Puppy, Animal), isinstance(Dog('a'), Puppy), [c.__name__ for c in Puppy.__mro__])
