import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// Where `npm run dev` finds a server to ask.
const server = process.env.LYNCEUS_SERVER ?? 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [react()],
  server: { proxy: { '/api': server, '/auth': server } },
  build: {
    target: 'es2022',
    // The binary serves each file by its hash; data URLs would be refused by the page's own security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
})
