internal import Glibc

/// The places of the standard input, output and error.
enum StandardStreams {
  /// Takes the places of those that whoever started the process has closed. Otherwise the next files that are opened
  /// would get them, those of a store among them, and what is meant for the user would be written there.
  ///
  /// A folder is put there, which can neither be read nor written, so that using it fails as using a closed stream
  /// does. Call it before anything is opened. Cost: two calls of the system.
  static func keepClosedOnes() {
    while true {
      let file = open("/", O_RDONLY | O_DIRECTORY)
      if file > STDERR_FILENO { close(file) }
      // Where nothing can be opened, a store cannot either.
      if file < 0 || file > STDERR_FILENO { return }
    }
  }
}
