import CommandLineKit
import CacheBase
import CachePresentation
import Testing

@testable import CachectlTool

/// The exit status for each kind of failure.
struct ExitStatusTests {
  @Test(
    arguments: [
      (CacheError.Code.invalidRequest, 64), (.invalidKey, 64),
      (.damaged, 65), (.wrongType, 65), (.malformed, 65), (.unsupportedFormat, 65),
      (.notCached, 66), (.notFound, 66),
      (.originUnreachable, 69), (.invalidAnswer, 69), (.unreachable, 69),
      (.closed, 70), (.cannotCreate, 73),
      (.noSpace, 74), (.ioFailed, 74), (.tooLarge, 74), (.overBounds, 74), (.unsupported, 74), (.failed, 74),
      (.busy, 75), (.conflict, 75), (.originRefused, 77), (.permissionDenied, 77),
      (.unknownBackend, 78), (.invalidPlugin, 78), (.invalidOption, 78), (.originUnavailable, 78),
      (.cancelled, 130),
    ] as [(CacheError.Code, Int32)])
  func eachCodeHasItsStatus(code: CacheError.Code, status: Int32) {
    #expect(Failure(CacheError(code, "it failed")).status == ExitCode(status))
  }

  /// An engine in a library may have codes of its own: its failure is no defect of the program.
  @Test func anUnknownCodeIsTheFailureOfItsEngine() {
    let failure = Failure(CacheError(CacheError.Code(rawValue: "quotaUsedUp"), "the quota is used up", hint: "wait"))
    #expect(failure.status == .ioFailed)
    #expect(failure.view == ErrorView(code: "quotaUsedUp", message: "the quota is used up", hint: "wait"))
  }

  @Test func anyOtherErrorIsADefect() {
    struct Surprise: Error {}
    let failure = Failure(Surprise())
    #expect(failure.status == .defect && failure.view.code == "defect")
  }
}
