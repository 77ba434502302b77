import path from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** The address below which Portico serves the console. */
const base = '/console/'

/** Most pages have a table, but not the largest ones: those of a Space. */
const tables = /@tanstack\/(?:react-table|table-core)\/|\/ui\/(?:data-table|table-frame|sort-button)\./
/** Most pages open none of them at first. */
const dialogs = /\/src\/ui\/(?:close-guard|dialog|side-panel)\.tsx$/

/** Not in `frame`: what runs when a document is opened, and what only the sign-in page and few others need. */
const notShared =
  /\.html|\/src\/(?:main|sign-in)\.tsx$|\/pages\/accounts\/|\/(?:public-frame|language-menu)\.tsx$|\/components\/(?:PasswordInput|Divider)\//

/** The document of the console loads the application next to the first script, which imports it. */
const preloadApplication: Plugin = {
  name: 'preload-application',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle = {}, filename }) {
      if (path.basename(filename) !== 'index.html') return []
      const files = new Set(Object.values(bundle).flatMap(({ fileName, name }) => (name === 'app' ? fileName : [])))
      for (const name of files) {
        const file = bundle[name]
        if (file?.type === 'chunk') for (const imported of file.imports) files.add(imported)
      }
      return [...files]
        .filter((file) => !html.includes(file))
        .map((file) => ({ tag: 'link', attrs: { rel: 'modulepreload', crossorigin: true, href: base + file } }))
    },
  },
}

/** Files most of whose functions run on every page. */
const runsOnLoad = new Set(['frame', 'app', 'parts', 'data-table'])

/**
 * Chromium reads this hint at the start of a file: it compiles the functions of the file while it loads, next to the main thread, and not one
 * by one on the main thread when each is first called. For other browsers it is a comment.
 */
const compileAhead: Plugin = {
  name: 'compile-ahead',
  generateBundle: {
    // Vite writes the list of a file's imports before its code.
    order: 'post',
    handler(_options, bundle) {
      for (const file of Object.values(bundle))
        if (file.type === 'chunk' && runsOnLoad.has(file.name)) file.code = `//# allFunctionsCalledOnLoad\n${file.code}`
    },
  },
}

export default defineConfig({
  root: import.meta.dirname,
  base,
  plugins: [react(), preloadApplication, compileAhead],
  resolve: { alias: { '@contract': path.resolve(import.meta.dirname, '../src/contract') } },
  // The server replaces it with a fresh value in every index.html (src/console/static.routes.ts).
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: path.resolve(import.meta.dirname, '../dist/console'),
    emptyOutDir: true,
    // Data URIs would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    // All supported browsers have it.
    modulePreload: { polyfill: false },
    target: 'es2023',
    // Browsers that have light-dark(); for older ones the build would replace it by variables that nothing sets.
    cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    rolldownOptions: {
      input: ['index.html', 'sign-in.html'].map((name) => path.resolve(import.meta.dirname, name)),
      output: {
        codeSplitting: {
          // Without groups a page loads a hundred small files, which compress badly. `frame` is what the sign-in page shares with the others;
          // `app` what every page for signed-in people needs besides; `parts` what twelve parts or more share. With fewer (4 and 8 were
          // measured), each page loads more that it does not use than it gains.
          groups: [
            { name: 'frame', tags: ['$initial'], priority: 3, test: (id) => !notShared.test(id) },
            { name: 'app', test: /\/src\/app\/(?:app|shell)\.tsx$/, priority: 2 },
            { name: 'parts', minShareCount: 12, priority: 1, test: (id) => !tables.test(id) && !dialogs.test(id) },
          ],
        },
      },
    },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1500,
  },
})
