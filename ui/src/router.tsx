/** Which view an address shows. The paths are Argo CD's, so that links in chats and runbooks go on working. */

import { createBrowserRouter, Navigate } from 'react-router'

import { Shell } from './parts/Shell'
import { Broken } from './parts/Broken'
import { Loading } from './parts/Feedback'
import { Applications } from './views/applications/Applications'
import { Login } from './views/login/Login'

export const router = createBrowserRouter([
  { path: '/login', element: <Login />, errorElement: <Broken /> },
  {
    element: <Shell />,
    hydrateFallbackElement: <Loading />,
    errorElement: <Broken />,
    children: [
      { path: '/', element: <Navigate to="/applications" replace /> },
      { path: '/applications', element: <Applications /> },
      { path: '/applications/:namespace/:name', lazy: async () => ({ Component: (await import('./views/application/ApplicationView')).ApplicationView }) },
      { path: '/applications/:name', lazy: async () => ({ Component: (await import('./views/application/ApplicationView')).ApplicationByName }) },
      { path: '/applicationsets', lazy: async () => ({ Component: (await import('./views/sets/Sets')).Sets }) },
      { path: '/applicationsets/:namespace/:name', lazy: async () => ({ Component: (await import('./views/sets/SetView')).SetView }) },
      { path: '/applicationsets/:name', lazy: async () => ({ Component: (await import('./views/sets/SetView')).SetByName }) },
      { path: '/doctor', lazy: async () => ({ Component: (await import('./views/doctor/Doctor')).Doctor }) },
      { path: '/rehearsal', lazy: async () => ({ Component: (await import('./views/rehearsal/Rehearsal')).Rehearsal }) },
      { path: '/settings', element: <Navigate to="/settings/repos" replace /> },
      { path: '/settings/:tab', lazy: async () => ({ Component: (await import('./views/settings/Settings')).Settings }) },
      { path: '/user-info', element: <Navigate to="/settings/user" replace /> },
      { path: '*', lazy: async () => ({ Component: (await import('./parts/NotThere')).NotThere }) },
    ],
  },
])
