import { afterAll } from 'vitest'
import { removeTemporaryFolders } from './temporary-folder.ts'

/** Vitest ends its processes with a signal, so nothing can be removed later. */
afterAll(removeTemporaryFolders)
