internal import CommandLineKit
internal import FetchVocabulary

/// The exit codes, as the contract of the command line defines them. Help, the manual and the reference list them.
extension ExitCode {
  static let dataError = ExitCode(65)
  static let notFound = ExitCode(66)
  static let unavailable = ExitCode(69)
  static let defect = ExitCode(70)
  static let cannotCreate = ExitCode(73)
  static let ioFailed = ExitCode(74)
  static let busy = ExitCode(75)
  static let refused = ExitCode(77)
  static let badConfiguration = ExitCode(78)
  static let interrupted = ExitCode(130)

  /// Each exit code, its meaning, and the error codes that lead to it.
  static let meanings: [(code: ExitCode, meaning: String, errors: [CacheError.Code])] = [
    (.success, "Done.", []),
    (
      .failure,
      """
      A check of `backends test` failed; or `bench` found a wrong result, a failed engine, or something worse \
      than in the compared run.
      """, []
    ),
    (
      .validationFailure, "The command line is wrong, or `rm --all` was not confirmed.", [.invalidRequest, .invalidKey]
    ),
    (
      .dataError,
      """
      Data is damaged, of another type, or of a format that this version does not read; or an imported line is \
      malformed. A repair that may have lost entries also ends with this code.
      """,
      [.damaged, .wrongType, .notSealed, .malformed, .unsupportedFormat]
    ),
    (
      .notFound,
      """
      Not found: a key, a page, a store to migrate, entries that meet the conditions of `rm`, or with `--offline` a \
      stored response; with `--fail`, HTTP status 404 or 410.
      """, [.notCached, .notFound]
    ),
    (
      .unavailable,
      """
      The origin or the store's server cannot be reached, or its response is invalid, and no stored copy can \
      be served; with `--require-fresh`, only a stale copy; with `--fail`, any other HTTP status from 400.
      """,
      [.originUnreachable, .invalidAnswer, .unreachable]
    ),
    (.defect, "A defect of the program.", [.closed]),
    (
      .cannotCreate,
      "A store cannot be created, or the path of the store is something else: nothing there is changed.",
      [.cannotCreate]
    ),
    (
      .ioFailed,
      """
      Input or output failed, such as on a full disk, or an engine failed in its own way; with \
      `--require-store`, a response could not be stored. Older entries are intact.
      """,
      [.noSpace, .ioFailed, .tooLarge, .overBounds, .unsupported, .failed]
    ),
    (
      .busy, "Another process held the store longer than the timeout, or its server was still starting.",
      [.busy, .conflict]
    ),
    (
      .refused,
      """
      Access is refused: by permissions, the layer `readonly`, a seal with another key, or the origin (with \
      `--fail`, HTTP status 401 or 403); or other users can change an engine's library.
      """,
      [.originRefused, .permissionDenied, .wrongKey]
    ),
    (
      .badConfiguration, "The configuration is wrong, or a library that it needs cannot be used.",
      [.unknownBackend, .invalidPlugin, .invalidOption, .originUnavailable]
    ),
    (ExitCode(129), "Hung up. Stores were closed in order.", []),
    (.interrupted, "Interrupted. Stores were closed in order.", [.cancelled]),
    (ExitCode(141), "The reader of stdout has closed it, such as `head`.", []),
    (ExitCode(143), "Terminated. Stores were closed in order.", []),
  ]

  /// The exit code for an error code. One that is not in the registry comes from an engine, which then has failed.
  init(_ code: CacheError.Code) { self = Self.meanings.first { $0.errors.contains(code) }?.code ?? .ioFailed }
}
