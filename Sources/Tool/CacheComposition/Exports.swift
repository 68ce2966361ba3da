// The settings of a resource are a section of the configuration.
@_exported public import ProgramConfiguration
