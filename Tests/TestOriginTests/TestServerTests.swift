import Testing
import TestOrigin
