// How a fetch is asked for and answered is part of what the use cases say.
@_exported public import FetchVocabulary
