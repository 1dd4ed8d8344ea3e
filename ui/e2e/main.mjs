// Uses the page as people would, in a real browser, and looks at what comes of it.
//   UI_TEST_PAGE       where the page is served
//   UI_TEST_PASSWORD   the administrator's password
//   UI_TEST_DEMO       the working tree that the demo delivers, to commit to
//   UI_TEST_KUBECONFIG the embedded cluster, to add an account to
//   UI_TEST_PICTURES   where pictures go
//   UI_TEST_PATIENCE   how many seconds to wait for anything, 60 without it
//   UI_TEST_ONLY       which parts to run, with commas between; all without it
import { mkdirSync } from 'node:fs'

import { applications } from './applications.mjs'
import { application } from './application.mjs'
import { open, pictures } from './browser.mjs'
import { crowd } from './crowd.mjs'
import { doctor } from './doctor.mjs'
import { editing } from './editing.mjs'
import { login, refusal } from './login.mjs'
import { looks } from './looks.mjs'
import { others } from './others.mjs'
import { sets } from './sets.mjs'
import { settings } from './settings.mjs'
import { sso } from './sso.mjs'
import { end, need, step } from './steps.mjs'

const only = process.env.UI_TEST_ONLY
mkdirSync(pictures, { recursive: true })
const browser = await open()
const { page, said } = browser
page.setDefaultTimeout(Number(process.env.UI_TEST_PATIENCE ?? 60) * 1000)
const parts = { applications, application, doctor, others, editing, sets, settings, crowd, looks, refusal, sso }
await login(page)
for (const [name, run] of Object.entries(parts)) if (!only || only.split(',').includes(name)) await run(page)
await step(page, 'nothing went wrong unseen', async () => need(said.length === 0, [...new Set(said)].join('\n')))
await browser.close()
process.exit(end())
