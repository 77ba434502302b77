import { createRoute } from '@tanstack/react-router'
import {
  accountShellRoutes,
  memberRoutes,
  operatorPeopleRoutes,
  publicAccountRoutes,
} from '../pages/accounts/routes.tsx'
import { devtoolsRoutes } from '../pages/devtools/routes.tsx'
import { modelRoutes } from '../pages/models/routes.tsx'
import { operatorRoutes } from '../pages/operator/routes.tsx'
import { spacesRoutes } from '../pages/spaces/routes.tsx'
import { usageRoutes } from '../pages/usage/routes.tsx'
import { HomeRedirect } from './home-redirect.tsx'
import { operatorRoute, organisationRoute, publicRoute, rootRoute, shellRoute } from './layout-routes.tsx'

const homeRoute = createRoute({ getParentRoute: () => shellRoute, path: '/', component: HomeRedirect })

/** Every page of the console. */
export const routeTree = rootRoute.addChildren([
  publicRoute.addChildren(publicAccountRoutes),
  shellRoute.addChildren([
    homeRoute,
    ...accountShellRoutes,
    organisationRoute.addChildren([...devtoolsRoutes, ...spacesRoutes, ...usageRoutes, ...memberRoutes]),
    operatorRoute.addChildren([...operatorRoutes, ...modelRoutes, ...operatorPeopleRoutes]),
  ]),
])
