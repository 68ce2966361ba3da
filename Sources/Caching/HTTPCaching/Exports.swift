// Requests and responses, and what a fetch asks for, are part of what the rules say.
@_exported public import FetchVocabulary
@_exported public import HTTPMessages
