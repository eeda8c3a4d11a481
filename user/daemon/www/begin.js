// SPDX-License-Identifier: GPL-2.0
// The page of ringfence-watch. The files of this folder are joined in the order of the Makefile.
// Names come from the network: they reach the document as text only, never as markup.
(() => {
'use strict';
