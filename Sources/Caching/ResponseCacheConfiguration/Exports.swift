// A program with a configured cache imports this module and its engines, and nothing else.
@_exported public import struct ProgramConfiguration.ConfigurationEntry
@_exported public import protocol ProgramConfiguration.ConfigurationSection
@_exported public import enum ProgramConfiguration.ConfigurationSource
@_exported public import struct ProgramConfiguration.HeaderSetting
@_exported public import struct ProgramConfiguration.Secret
@_exported public import struct ProgramConfiguration.SectionReader
@_exported public import ResponseCache
