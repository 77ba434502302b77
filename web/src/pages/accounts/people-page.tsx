import { Box, Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconUserPlus } from '@tabler/icons-react'
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { PageSteps } from '../../ui/data-table.tsx'
import { SearchField } from '../../ui/list-controls.tsx'
import { Page } from '../../ui/page.tsx'
import { Section } from '../../ui/section.tsx'
import { InvitationsTable } from './invitations-table.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { PeopleTable } from './people-table.tsx'
import { peopleQuery } from './routes.tsx'
import { SingleSignOnState } from './single-sign-on-state.tsx'

/** Every account, the invitations of operators, and the state of single sign-on. */
export function PeoplePage() {
  const { t } = useTranslation('accounts')
  const queryClient = useQueryClient()
  const [offset, setOffset] = useState(0)
  const [search, setSearch] = useState('')
  const { data: first } = useSuspenseQuery(peopleQuery(0, ''))
  const { data: view = first } = useQuery(peopleQuery(offset, search))
  const [isInviting, dialog] = useDisclosure(false)
  const refresh = () => void queryClient.invalidateQueries({ queryKey: ['people'] })
  const find = (text: string) => {
    setSearch(text.trim())
    setOffset(0)
  }
  return (
    <Page
      title={t('people.title')}
      description={t('people.text')}
      actions={
        <Button leftSection={<IconUserPlus size={16} aria-hidden />} onClick={dialog.open}>
          {t('invite.openOperator')}
        </Button>
      }
    >
      <div>
        <Box mb="sm">
          <SearchField label={t('people.search')} value={search} onChange={find} />
        </Box>
        <PeopleTable
          people={view.people.items}
          hasPasswords={view.passwordSignIn}
          onChanged={refresh}
          load={async () =>
            (await queryClient.fetchQuery({ ...peopleQuery(offset, search), staleTime: 0 })).people.items
          }
        />
        <PageSteps {...view.people} onChange={setOffset} />
      </div>
      <Section title={t('people.operatorInvitations')} description={t('invitations.text')}>
        <InvitationsTable invitations={view.invitations} path="/api/operator-invitations" onChanged={refresh} />
      </Section>
      <SingleSignOnState view={view} />
      <InviteDialog isOpen={isInviting} onClose={dialog.close} onInvited={refresh} />
    </Page>
  )
}
