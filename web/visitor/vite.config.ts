import path from 'node:path'
import { defineConfig } from 'vite'

/** The page of a hosted chat, `dist/visitor/index.html`. Portico serves its assets below /widget/assets/. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/widget/',
  oxc: { jsx: { importSource: 'preact' } },
  resolve: { alias: { '@contract': path.resolve(import.meta.dirname, '../../src/contract') } },
  build: {
    outDir: path.resolve(import.meta.dirname, '../../dist/visitor'),
    emptyOutDir: true,
    // Data URIs would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    cssTarget: ['chrome123', 'edge123', 'firefox125', 'safari17.5'],
    reportCompressedSize: false,
  },
})
