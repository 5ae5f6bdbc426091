class Base:
    def forward(self):
        raise NotImplementedError
class Sub(Base):
    pass
Sub().forward()
