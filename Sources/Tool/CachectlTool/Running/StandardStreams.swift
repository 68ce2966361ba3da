internal import Glibc

/// The descriptors of the standard input, output and error.
enum StandardStreams {
  /// Occupies standard streams that were closed when the process started. Otherwise the next file opened, perhaps a
  /// store's, would get the descriptor of one, and messages for the user would be written to it.
  ///
  /// A folder takes the place of a closed stream: it can be neither read nor written, so using it fails as using a
  /// closed stream does. Call this before anything is opened. Cost: two system calls.
  static func keepClosedOnes() {
    while true {
      let file = open("/", O_RDONLY | O_DIRECTORY)
      if file > STDERR_FILENO { close(file) }
      // If nothing can be opened, a store cannot be opened either.
      if file < 0 || file > STDERR_FILENO { return }
    }
  }
}
