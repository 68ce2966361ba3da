internal import CachectlTool
internal import FetchVocabulary

extension ServiceTokensTool.Outcome {
  /// The outcome of what ended with `failure`.
  init(failure: any Error) {
    switch failure {
    case let failure as UsageError: self.init(failure.message, hint: "see: service-tokens --help", status: 64)
    case let failure as ConfigurationError: self.init(failure.message, hint: failure.hint, status: 78)
    case let failure as CacheError:
      self.init(failure.message, hint: failure.hint, status: Self.status(of: failure.code))
    default: self.init("a defect: \(type(of: failure))", hint: "", status: 70)
    }
  }

  private init(_ message: String, hint: String, status: Int32) {
    let text = [message, hint].filter { !$0.isEmpty }.joined(separator: ": ")
    self.init(error: "service-tokens: \(text)\n", status: status)
  }

  private static func status(of code: CacheError.Code) -> Int32 {
    switch code.rawValue {
    case "invalidRequest": 64
    case "damaged", "unsupportedFormat", "tokenExists": 65
    case "unreachable": 69
    case "cannotCreate": 73
    case "noSpace", "ioFailed", "tooLarge", "overBounds": 74
    case "busy", "conflict": 75
    case "permissionDenied": 77
    case "unknownBackend", "invalidOption": 78
    default: 70
    }
  }
}
