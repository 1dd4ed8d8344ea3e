import './styles/mantine.css'
import './styles/tokens.css'
import './styles/base.css'

import { MantineProvider, localStorageColorSchemeManager } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { RouterProvider } from 'react-router'

import { queries } from './api/hooks'
import { Clock } from './parts/Time'
import { router } from './router'
import { adoptVariables, theme } from './theme'

const scheme = localStorageColorSchemeManager({ key: 'lynceus-scheme' })
const root = document.getElementById('root')

adoptVariables()

if (root) {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" colorSchemeManager={scheme} withCssVariables={false} withGlobalClasses={false}>
        <QueryClientProvider client={queries}>
          <Clock>
            {/* Fields hold what the address says; in a transition they would lose letters that are typed quickly. */}
            <RouterProvider router={router} useTransitions={false} />
          </Clock>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}
