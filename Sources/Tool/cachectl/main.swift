internal import CachectlTool

Cachectl().run()
