internal import CachectlTool

/// A configuration file: whatever is in it, there is a configuration or a problem with a place in the file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let loader = ConfigurationLoader(
    engines: PluginCatalogue.builtIn.declarations,
    sections: [CitiesSettings.self, MoviesSettings.self, MovieQueriesSettings.self],
    environment: ["CACHECTL_CONFIG": "/config.json"],
    workingDirectory: "/", userHome: "/home",
    readFile: { path in path == "/config.json" ? bytes : nil })
  let (configuration, problems) = loader.read()
  precondition(problems.allSatisfy { !$0.message.isEmpty && !$0.message.contains("\n") }, "a problem is not one line")
  precondition((configuration != nil) == problems.isEmpty, "there are problems or a configuration")
  return 0
}
