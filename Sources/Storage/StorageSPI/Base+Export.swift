// Engines read and write JSON.
@_exported public import Base
