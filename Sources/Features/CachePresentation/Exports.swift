// The types in which views describe themselves, without the rest of Base.
@_exported public import enum Base.JSONIndent
@_exported public import enum Base.JSONLines
@_exported public import enum Base.JSONText
@_exported public import enum Base.JSONValue
@_exported public import enum Base.TerminalText
