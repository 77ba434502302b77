import { errorResponses } from '../../contract/errors.ts'
import { ifMatchHeadersSchema } from '../../contract/settings-version.ts'
import {
  putSingleSignOnSchema,
  singleSignOnSchema,
  startedSingleSignOnTestSchema,
} from '../../contract/single-sign-on.ts'
import { describeRoutes, type Routes } from '../../platform/http/index.ts'
import { actorOf } from '../operators/index.ts'
import type { Accounts } from './accounts.ts'

const described = describeRoutes({ role: 'operator' }, 'People')
const changed = {
  headers: ifMatchHeadersSchema,
  response: { 200: singleSignOnSchema, ...errorResponses(400, 401, 403, 409) },
}

/** `/api/single-sign-on`: how operators set it up, test it, and switch it on and off. */
export function singleSignOnRoutes({ accounts: { singleSignOn } }: { accounts: Accounts }): Routes {
  return (app) => {
    app.get(
      '/api/single-sign-on',
      described('getSingleSignOn', 'Single sign-on: settings, test and state', {
        response: { 200: singleSignOnSchema, ...errorResponses(401, 403) },
      }),
      ({ person }) => singleSignOn.view(person?.id),
    )
    app.put(
      '/api/single-sign-on',
      described('putSingleSignOn', 'Store settings of single sign-on', {
        description:
          'They are not in force before they are switched on. 409 if the configuration has `accounts.singleSignOn`.',
        body: putSingleSignOnSchema,
        ...changed,
      }),
      (request) => singleSignOn.save(request.body, changedBy(request)),
    )
    app.post(
      '/api/single-sign-on/test',
      described('testSingleSignOn', 'Begin a test sign-in', {
        description:
          'With the stored settings, in the session of the caller. The browser continues at `url`; the provider sends it back to the console. Nobody is signed in.',
        response: { 200: startedSingleSignOnTestSchema, ...errorResponses(401, 403, 409) },
      }),
      (request) => singleSignOn.startTest(request.person, actorOf(request)),
    )
    app.put(
      '/api/single-sign-on/active',
      described('enableSingleSignOn', 'Switch single sign-on on, or to the stored settings', {
        description:
          'Only after a passed test of the caller with exactly these settings. In force at once, on every instance.',
        ...changed,
      }),
      (request) => singleSignOn.switchOn(changedBy(request)),
    )
    app.delete(
      '/api/single-sign-on/active',
      described('disableSingleSignOn', 'Switch single sign-on off', {
        description: 'The settings stay stored, and sessions stay valid. 409 if no operator has a password.',
        ...changed,
      }),
      (request) => singleSignOn.switchOff(changedBy(request)),
    )
  }
}

function changedBy(request: {
  headers: { 'if-match'?: string | undefined }
  requestId: string
  person: Parameters<typeof actorOf>[0]['person']
}) {
  return { actor: actorOf(request), ifMatch: request.headers['if-match'], personId: request.person?.id }
}
