// What a resource, an engine or a command from outside is written with.
@_exported public import CommandLineKit
@_exported public import CacheConfiguration
@_exported public import CacheData
@_exported public import CachePresentation
@_exported public import CacheCore
@_exported public import FetchVocabulary
@_exported public import EngineAPI
