import { flushCompileCache } from 'node:module'
import { afterAll } from 'vitest'

/**
 * Node.js writes its cache of compiled code (NODE_COMPILE_CACHE, see bin/run) when a process ends by itself. Vitest ends its processes with a
 * signal, so that without this each test file would compile the whole service again.
 */
afterAll(() => flushCompileCache())
