import path from 'node:path'
import { defineConfig } from 'vite'

/** The script that websites include, `dist/visitor/widget.js`. It is built after the page, whose build empties the folder. */
export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: path.resolve(import.meta.dirname, '../../../dist/visitor'),
    emptyOutDir: false,
    target: 'es2022',
    lib: {
      entry: path.resolve(import.meta.dirname, 'widget.ts'),
      formats: ['iife'],
      name: 'porticoWidget',
      fileName: () => 'widget.js',
    },
    reportCompressedSize: false,
  },
})
