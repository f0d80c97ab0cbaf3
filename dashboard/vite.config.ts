import { join } from 'node:path';
import { defineConfig } from 'vite';

/** `npm run dev -w sluicegate-dashboard` serves the sources, with the Admin API of a gateway on this machine. */
export default defineConfig({
  root: import.meta.dirname,
  // Relative, so that the page works below any `admin_gui_path`.
  base: './',
  clearScreen: false,
  build: {
    target: 'es2023',
    // Nothing inline: the content security policy allows only files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: { index: join(import.meta.dirname, 'index.html'), portal: join(import.meta.dirname, 'portal.html') },
      // Libraries mark their modules for servers, which this build is not for.
      onwarn(warning, show) {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') show(warning);
      },
    },
    // The built files contain these packages: their licences require the texts.
    license: { fileName: 'licenses.json' },
  },
  server: {
    proxy: { '/api': { target: 'http://127.0.0.1:8001', rewrite: (path) => path.replace(/^\/api/, '') } },
  },
});
