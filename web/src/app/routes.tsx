import { createRoute } from '@tanstack/react-router'
import {
  accountShellRoutes,
  memberRoutes,
  operatorPeopleRoutes,
  publicAccountRoutes,
} from '../pages/accounts/routes.tsx'
import { alertRoutes } from '../pages/alerts/routes.tsx'
import { conversationRoutes } from '../pages/conversations/routes.tsx'
import { dataProtectionRoutes } from '../pages/data-protection/routes.tsx'
import { devtoolsRoutes } from '../pages/devtools/routes.tsx'
import { receiptRoutes } from '../pages/receipts/routes.tsx'
import { filesRoutes } from '../pages/files/routes.tsx'
import { goldenRoutes } from '../pages/golden-questions/routes.tsx'
import { hostedChatRoutes } from '../pages/hosted-chat/routes.tsx'
import { modelRoutes } from '../pages/models/routes.tsx'
import { activityRoutes, operatorRoutes } from '../pages/operator/routes.tsx'
import { semanticSearchRoutes } from '../pages/semantic-search/routes.tsx'
import { singleSignOnRoutes } from '../pages/single-sign-on/routes.tsx'
import { spaceToolsRoutes } from '../pages/space-tools/routes.tsx'
import { overviewRoutes } from '../pages/overview/routes.tsx'
import { spacePageRoutes, spacesRoutes } from '../pages/spaces/routes.tsx'
import { spaceRoute } from '../pages/spaces/space-route.tsx'
import { usageRoutes } from '../pages/usage/routes.tsx'
import { viewerRoutes } from '../pages/viewer/routes.tsx'
import { HomeRedirect } from './home-redirect.tsx'
import { operatorRoute, organisationRoute, publicRoute, rootRoute, shellRoute } from './layout-routes.tsx'

const homeRoute = createRoute({ getParentRoute: () => shellRoute, path: '/', component: HomeRedirect })

/** Every page of the console. */
export const routeTree = rootRoute.addChildren([
  publicRoute.addChildren(publicAccountRoutes),
  shellRoute.addChildren([
    homeRoute,
    ...accountShellRoutes,
    organisationRoute.addChildren([
      ...devtoolsRoutes,
      ...receiptRoutes,
      ...spacesRoutes,
      ...hostedChatRoutes,
      spaceRoute.addChildren([
        ...spacePageRoutes,
        ...filesRoutes,
        ...viewerRoutes,
        ...goldenRoutes,
        ...conversationRoutes,
        ...spaceToolsRoutes,
      ]),
      ...usageRoutes,
      ...memberRoutes,
      ...activityRoutes,
      ...dataProtectionRoutes,
    ]),
    operatorRoute.addChildren([
      ...overviewRoutes,
      ...alertRoutes,
      ...operatorRoutes,
      ...modelRoutes,
      ...operatorPeopleRoutes,
      ...semanticSearchRoutes,
      ...singleSignOnRoutes,
    ]),
  ]),
])
