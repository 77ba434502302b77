import path from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The address below which Portico serves the console. */
const base = '/console/'

/** Most pages have a table, but not the largest ones: those of a Space. */
const tables = /@tanstack\/(?:react-table|table-core)\/|\/ui\/(?:data-table|table-frame|sort-button)\./

export default defineConfig({
  root: import.meta.dirname,
  base,
  plugins: [react()],
  resolve: { alias: { '@contract': path.resolve(import.meta.dirname, '../src/contract') } },
  // The server replaces it with a fresh value in every index.html (src/console/static.routes.ts).
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: path.resolve(import.meta.dirname, '../dist/console'),
    emptyOutDir: true,
    // Data URIs would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    target: 'es2023',
    // Browsers that have light-dark(); for older ones the build would replace it by variables that nothing sets.
    cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Without groups a page loads a hundred small files, which compress badly. `frame` is what main.tsx imports; `parts` is what
          // eight pages or more share. With fewer pages (4 was measured), each page loads more that it does not use than it gains.
          groups: [
            { name: 'frame', tags: ['$initial'], priority: 2 },
            { name: 'parts', minShareCount: 8, priority: 1, test: (id) => !tables.test(id) },
          ],
        },
      },
    },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1500,
  },
})
